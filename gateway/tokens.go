package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/order"
	"crossgate/proxy/admin"
	"crossgate/store"
	"crossgate/token"
	"crossgate/token/catalog"
	"crossgate/upstream"
	"crossgate/upstream/tokenlist"
)

const (
	// listInterval is how often run checks for lists that are due, listRetry when a failed list is due again.
	listInterval = 10 * time.Second
	listRetry    = 10 * time.Minute
	// confirmedAtOnce is how many contracts one read compares with a list.
	confirmedAtOnce = 100
)

type publicList struct {
	name string
	pool *upstream.Pool
}

// listFetcher fetches public token lists when they are due, checks them against the chains and passes them to the
// catalog. A list that fails or is refused keeps its previous tokens.
type listFetcher struct {
	sets    *sets
	catalog *catalog.Catalog
	log     *slog.Logger

	mu     sync.Mutex
	states map[string]listState
}

// listState is the outcome of the latest reading of a list.
type listState struct {
	by        *set // that read it
	read, due time.Time
	tokens    map[token.Key]token.Token
	wrong     string // the latest failure; empty: none
}

func (f *listFetcher) run(ctx context.Context) {
	for isOn := true; isOn; isOn = order.Wait(ctx, listInterval, nil) {
		f.update(ctx)
	}
}

// update refreshes the lists that are due, and after a reload all.
func (f *listFetcher) update(ctx context.Context) {
	used := f.sets.now()
	names := make([]string, len(used.parts.lists))
	for i, l := range used.parts.lists {
		names[i] = l.name
	}
	f.catalog.SetNames(names)
	for _, l := range used.parts.lists {
		if state := f.state(l.name); ctx.Err() == nil && (state.by != used || !time.Now().Before(state.due)) {
			f.refresh(ctx, used, l, state)
		}
	}
}

func (f *listFetcher) state(name string) listState {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.states[name]
}

// refresh fetches one list and replaces its tokens if it passes the checks. It logs a failure that differs from the
// previous one.
func (f *listFetcher) refresh(ctx context.Context, used *set, l publicList, state listState) {
	was := state.wrong
	state.by, state.read, state.wrong = used, time.Now(), ""
	state.due = state.read.Add(used.config.Tokens.Refresh)
	text, err := tokenlist.Fetch(ctx, l.pool)
	if err == nil {
		var unread []chain.ID
		var tokens map[token.Key]token.Token
		if tokens, unread, err = confirmed(ctx, used, state.tokens, text); err == nil {
			state.tokens = tokens
			f.catalog.Replace(l.name, tokens)
		}
		if len(unread) > 0 {
			err = fmt.Errorf("chains %v could not be read; their tokens stay as they were", unread)
		}
	}
	switch {
	case ctx.Err() != nil:
		return
	case err == nil:
		f.log.InfoContext(ctx, "token list read", "list", l.name, "tokens", len(state.tokens))
	default:
		state.wrong, state.due = err.Error(), state.read.Add(listRetry)
		if state.wrong != was {
			f.log.WarnContext(ctx, "token list rejected; its previous tokens stay listed", "list", l.name, "error", err)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.states[l.name] = state
}

// confirmed returns the tokens of a list that contracts confirm. On chains that are unreadable at the moment, it keeps
// the list's previous tokens.
func confirmed(ctx context.Context, used *set, before map[token.Key]token.Token, text []byte) (map[token.Key]token.Token, []chain.ID, error) {
	list, err := catalog.Parse(text, used.parts.readable())
	if err != nil {
		return nil, nil, err
	}
	var unread []chain.ID
	tokens := make(map[token.Key]token.Token)
	for _, c := range used.parts.readable().All() {
		said, err := contractsWord(ctx, used.parts.tokens, c.ID, list)
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err != nil {
			unread = append(unread, c.ID)
			maps.Copy(tokens, onChain(before, c.ID))
			continue
		}
		confirmed, err := list.Check(c, said)
		if err != nil {
			return nil, nil, fmt.Errorf("refused: %w", err)
		}
		maps.Copy(tokens, confirmed)
	}
	return tokens, unread, nil
}

// contractsWord returns the metadata that the contracts of a list's tokens on one chain report.
func contractsWord(ctx context.Context, d *token.Directory, id chain.ID, list catalog.List) (map[token.Key]token.Reading, error) {
	var addresses []chain.Address
	for key := range onChain(list.Tokens, id) {
		addresses = append(addresses, key.Address)
	}
	said := make(map[token.Key]token.Reading, len(addresses))
	for some := range slices.Chunk(addresses, confirmedAtOnce) {
		read, err := d.Read(ctx, id, some...)
		if err != nil {
			return nil, err
		}
		maps.Copy(said, read)
	}
	return said, nil
}

func onChain(tokens map[token.Key]token.Token, id chain.ID) map[token.Key]token.Token {
	some := maps.Clone(tokens)
	maps.DeleteFunc(some, func(key token.Key, _ token.Token) bool { return key.Chain != id })
	return some
}

func (f *listFetcher) dependencies(lists []publicList) (all []admin.Dependency) {
	for _, l := range lists {
		state := f.state(l.name)
		each := admin.Dependency{Kind: "token list", Name: l.name, OK: !state.read.IsZero() && state.wrong == "", State: "not read yet"}
		if !state.read.IsZero() {
			each.State = fmt.Sprintf("%d tokens, read at %s", len(state.tokens), state.read.UTC().Format(time.RFC3339))
		}
		if state.wrong != "" {
			each.State += ", " + state.wrong
		}
		all = append(all, each)
	}
	return all
}

// tokenShelf stores token metadata in the database. If there is none, or it fails, metadata is read from the chains.
type tokenShelf struct {
	store    *store.DB
	catalog  *catalog.Catalog
	registry chain.Registry
	log      *slog.Logger

	listing, recalling, remembering store.Failure
}

// mostOrdered limits the tokens of a chain that are listed because orders used them.
const mostOrdered = 2000

// listed returns a chain's tokens of public lists, and those that orders used and whose texts can be shown.
func (s *tokenShelf) listed(ctx context.Context, id chain.ID) map[chain.Address]token.Token {
	if s.catalog == nil {
		return nil
	}
	tokens := s.catalog.Tokens(id)
	ordered, err := s.store.OrderedTokens(ctx, id, mostOrdered)
	s.listing.Log(ctx, s.log, err, "tokens of orders are not listed", "tokens of orders are listed again")
	c, _ := s.registry.Chain(id)
	for address, t := range ordered {
		if _, known := tokens[address]; !known && catalog.CheckText(c, token.Key{Chain: id, Address: address}, t) == nil {
			tokens[address] = t
		}
	}
	return tokens
}

func (s *tokenShelf) recall(ctx context.Context, keys []token.Key) map[token.Key]token.Reading {
	if s.store == nil {
		return nil
	}
	known, err := s.store.Tokens(ctx, keys)
	s.recalling.Log(ctx, s.log, err, "stored token metadata is unavailable; reading it from the chains", "stored token metadata is read again")
	return known
}

func (s *tokenShelf) remember(ctx context.Context, readings map[token.Key]token.Reading) {
	if s.store == nil {
		return
	}
	err := s.store.SaveTokens(ctx, readings)
	s.remembering.Log(ctx, s.log, err, "token metadata is not stored", "token metadata is stored again")
}
