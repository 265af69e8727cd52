package config

// Access says what the log tells of requests. What clients ask is told as method and path, never the query, and their
// keys by name. An address, and in some countries its network, is personal data: say so in your privacy notice, and
// delete logs in time.
type Access struct {
	// Info is which requests have a line of level info: all; misses, those that the cache did not answer; or failures.
	// Lines of the others are of level debug, those of server errors of level error.
	Info LoggedRequests `yaml:"info" oneof:"all misses failures"`
	// Clients is how much of a client's address is told: address, network (of IPv4 24 bits, of IPv6 48), or none.
	// With none its User-Agent is left out, too.
	Clients ClientDetail `yaml:"clients" oneof:"address network none"`
}

// LoggedRequests are some of all requests.
type LoggedRequests string

// Requests that are logged at level info.
const (
	LogAll      LoggedRequests = "all"
	LogMisses   LoggedRequests = "misses"
	LogFailures LoggedRequests = "failures"
)

// ClientDetail is how much is told of a client's address.
type ClientDetail string

// Details of addresses.
const (
	ClientAddresses ClientDetail = "address"
	ClientNetworks  ClientDetail = "network"
	HideClients     ClientDetail = "none"
)

func defaultAccess() Access {
	return Access{Info: LogMisses, Clients: ClientNetworks}
}
