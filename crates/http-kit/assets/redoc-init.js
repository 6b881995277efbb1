// Which document is shown was decided by the server, from an exact list.
const target = document.getElementById('redoc');
Redoc.init(target.dataset.document, { sanitize: true, hideHostname: true }, target);
