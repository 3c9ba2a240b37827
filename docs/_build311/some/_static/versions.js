// Which other releases of JAX this site has, and the file to read offline; `nox -s site`
// writes it, and a book alone has neither.
window.versions = { here: "", root: "", all: [], archive: "" };
