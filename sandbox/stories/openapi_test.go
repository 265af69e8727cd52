package stories_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"crossgate/internal/must"
)

// documentedRoutes are those of the API's document.
var documentedRoutes = sync.OnceValues(func() (routers.Router, error) {
	document, err := openapi3.NewLoader().LoadFromFile(filepath.Join("..", "..", "proxy", "openapi.yaml"))
	if err != nil {
		return nil, err
	}
	return legacy.NewRouter(document)
})

// checkDocumented holds an answer of the gateway against the API's document. What others answer, such as the
// sandbox, is not looked at.
func checkDocumented(t testing.TB, response *http.Response, body []byte) {
	t.Helper()
	request := response.Request
	if path := request.URL.Path; request.Method != http.MethodGet && request.Method != http.MethodPost || !strings.HasPrefix(path, "/api/") && !strings.HasPrefix(path, "/v1.0/") {
		return
	}
	known := must.Get(documentedRoutes())(t)
	route, parameters, err := known.FindRoute(request)
	if err != nil {
		return // a spelling that the original tolerates
	}
	options := &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true}
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: request, PathParams: parameters, Route: route, Options: options},
		Status:                 response.StatusCode, Header: response.Header, Options: options,
	}
	input.SetBodyBytes(body)
	if err := openapi3filter.ValidateResponse(request.Context(), input); err != nil {
		t.Errorf("GET %s = %d is not as openapi.yaml has it: %.900v", request.URL, response.StatusCode, err)
	}
}
