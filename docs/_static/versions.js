// Which other releases of JAX this site has; `nox -s site` writes it, and alone there are none.
window.versions = { here: "", root: "", all: [] };
