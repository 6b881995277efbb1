// The documents on offer stand in the page, as data; this page has no inline script.
const documents = JSON.parse(document.getElementById('swagger-ui').dataset.documents);
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
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  layout: 'StandaloneLayout',
});
