// Starts Swagger UI; the page loads its script first.
window.SwaggerUIBundle({ url: '/openapi.yaml', dom_id: '#swagger', deepLinking: true, validatorUrl: null, tryItOutEnabled: true })
