// The documents on offer stand in the page, as data; this page has no inline script.
const documents = JSON.parse(document.getElementById('swagger-ui').dataset.documents);
const visitor = JSON.parse(document.getElementById('visitor')?.dataset.visitor ?? 'null');

// Beside a demo whoever looks is signed in, each time a document was loaded: what it asks for is shown with the first click.
async function signIn() {
  const answer = await fetch(visitor.login, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(visitor.body),
  });
  if (!answer.ok) {
    document.getElementById('visitor').textContent = 'This is a demo. Log in by the button Authorize.';
    return;
  }
  const told = await answer.json();
  window.ui.preauthorizeApiKey('bearerAuth', told.token ?? told.data.token);
  window.ui.preauthorizeApiKey('business', visitor.company);
}

window.ui = SwaggerUIBundle({
  urls: documents,
  'urls.primaryName': documents[0].name,
  dom_id: '#swagger-ui',
  deepLinking: true,
  displayRequestDuration: true,
  // With this many operations, open groups cost a browser seconds.
  docExpansion: 'none',
  filter: true,
  persistAuthorization: false,
  queryConfigEnabled: false,
  tryItOutEnabled: true,
  validatorUrl: null,
  onComplete: () => {
    if (visitor) signIn();
  },
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  layout: 'StandaloneLayout',
});
