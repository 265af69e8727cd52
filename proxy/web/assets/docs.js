// Starts Swagger UI, which the page has loaded before.
window.SwaggerUIBundle({ url: '/openapi.yaml', dom_id: '#swagger', deepLinking: true, validatorUrl: null, tryItOutEnabled: true })
