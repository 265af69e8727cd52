package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"crossgate/chain"
	"crossgate/config"
	"crossgate/proxy/admin"
	"crossgate/store"
	"crossgate/token"
	"crossgate/token/catalog"
	"crossgate/upstream"
	"crossgate/upstream/tokenlist"
)

const (
	// listInterval is how often lists are looked after: whether one is due, and whether another replica has a newer
	// one.
	listInterval = 10 * time.Second
	// listRetry is how long after a failure a list is fetched again.
	listRetry = 10 * time.Minute
	// listJob is the lease of the replica that fetches lists.
	listJob = "token lists"
	// confirmedAtOnce is how many contracts are asked together whether a list is right.
	confirmedAtOnce = 100
)

// publicList is a configured token list: behind a pool, or in a file.
type publicList struct {
	config config.TokenList
	pool   *upstream.Pool // nil: it is a file
}

// listBook keeps public token lists: fetched when they are due, checked against the chains, stored, and handed out by
// the catalog. A list that fails or is refused stays what it was.
type listBook struct {
	store   *store.DB
	sets    *sets
	catalog *catalog.Catalog
	log     *slog.Logger

	changes map[string]int64     // of each list that the catalog has
	retries map[string]time.Time // before which a list is not fetched

	mu     sync.Mutex
	states map[string]listState
}

// listState is how the latest reading of a list went.
type listState struct {
	read   time.Time
	tokens int
	wrong  string // empty: nothing
}

func newListBook(db *store.DB, s *sets, c *catalog.Catalog, log *slog.Logger) *listBook {
	return &listBook{
		store: db, sets: s, catalog: c, log: log,
		changes: make(map[string]int64), retries: make(map[string]time.Time), states: make(map[string]listState),
	}
}

// run looks after the lists until ctx ends.
func (b *listBook) run(ctx context.Context) {
	tick := time.NewTicker(listInterval)
	defer tick.Stop()
	for {
		b.update(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// update takes over what is stored and, as the replica whose job it is, fetches the lists that are due.
func (b *listBook) update(ctx context.Context) {
	used := b.sets.now()
	lists := used.parts.lists
	names := make([]string, len(lists))
	for i, l := range lists {
		names[i] = l.config.Name
	}
	b.catalog.SetNames(names)
	stored, err := b.recall(ctx, names)
	if err != nil {
		if !errors.Is(err, store.ErrUnavailable) && ctx.Err() == nil {
			b.log.WarnContext(ctx, "stored token lists are unavailable; what is known of them stays", "error", err)
		}
		return
	}
	now := time.Now()
	due := slices.DeleteFunc(slices.Clone(lists), func(l publicList) bool {
		return now.Sub(stored[l.config.Name].Read) < used.config.Tokens.Refresh || now.Before(b.retries[l.config.Name])
	})
	if len(due) == 0 {
		return
	}
	lease, granted, err := b.store.Claim(ctx, listJob)
	if err != nil || !granted {
		return // the database says itself that it is unavailable
	}
	holding, release := b.store.Hold(ctx, lease)
	for _, l := range due {
		b.refresh(holding, lease, used, l, stored[l.config.Name])
	}
	if err := release(); err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrUnavailable) {
		b.log.WarnContext(ctx, "the lease of the token lists was not given back", "error", err)
	}
}

// recall takes over the stored lists that have changed since.
func (b *listBook) recall(ctx context.Context, names []string) (map[string]store.TokenList, error) {
	stored, err := b.store.TokenLists(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		l, known := stored[name]
		if !known || b.changes[name] == l.Changes {
			continue
		}
		tokens, err := b.store.ListedTokens(ctx, name)
		if err != nil {
			return nil, err
		}
		b.catalog.Replace(name, tokens)
		b.changes[name] = l.Changes
		b.note(name, listState{read: l.Read, tokens: len(tokens)})
	}
	maps.DeleteFunc(b.changes, func(name string, _ int64) bool { return !slices.Contains(names, name) })
	return stored, nil
}

// refresh fetches one list and stores it, if there is anything new and nothing wrong.
func (b *listBook) refresh(ctx context.Context, lease store.Lease, used *set, l publicList, known store.TokenList) {
	name := l.config.Name
	read := time.Now()
	text, etag, err := l.fetch(ctx, known.ETag)
	if errors.Is(err, tokenlist.ErrSame) {
		err = b.store.KeepTokenList(ctx, lease, name, read)
		b.settle(ctx, name, read, err)
		return
	}
	var tokens map[token.Key]token.Token
	var unread []chain.ID
	if err == nil {
		tokens, unread, err = b.confirmed(ctx, used, name, text)
	}
	if err == nil {
		if len(unread) > 0 {
			etag = "" // the same answer is to be checked again
		}
		err = b.store.ReplaceTokenList(ctx, lease, name, etag, read, tokens)
	}
	if err == nil {
		_, err = b.recall(ctx, []string{name})
	}
	if err == nil && len(unread) > 0 {
		err = fmt.Errorf("chains %v could not be read; their tokens stay as they were", unread)
	}
	b.settle(ctx, name, read, err)
}

// confirmed returns the tokens of a list that contracts confirm. Those of chains that cannot be read at the moment are
// what the list had before.
func (b *listBook) confirmed(ctx context.Context, used *set, name string, text []byte) (map[token.Key]token.Token, []chain.ID, error) {
	list, err := catalog.Parse(text, used.parts.readable())
	if err != nil {
		return nil, nil, err
	}
	before, err := b.store.ListedTokens(ctx, name)
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

// contractsWord returns what the contracts of a list's tokens on one chain say of themselves.
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

// settle notes how a reading went. What went wrong is logged when it is not what went wrong before.
func (b *listBook) settle(ctx context.Context, name string, read time.Time, err error) {
	if ctx.Err() != nil || errors.Is(err, store.ErrUnavailable) {
		return
	}
	b.mu.Lock()
	state := b.states[name]
	b.mu.Unlock()
	was := state.wrong
	state.read, state.wrong = read, ""
	delete(b.retries, name)
	if err != nil {
		state.wrong = err.Error()
		b.retries[name] = read.Add(listRetry)
		if state.wrong != was {
			b.log.WarnContext(ctx, "token list not taken over; its earlier tokens stay listed", "list", name, "error", err)
		}
	} else {
		b.log.InfoContext(ctx, "token list read", "list", name, "tokens", state.tokens)
	}
	b.note(name, state)
}

func (b *listBook) note(name string, s listState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.states[name] = s
}

// dependencies lists the configured token lists.
func (b *listBook) dependencies(lists []publicList) (all []admin.Dependency) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range lists {
		state, known := b.states[l.config.Name]
		each := admin.Dependency{Kind: "token list", Name: l.config.Name, OK: known && state.wrong == "", State: "not read yet"}
		if known {
			each.State = fmt.Sprintf("%d tokens, read at %s", state.tokens, state.read.UTC().Format(time.RFC3339))
		}
		if state.wrong != "" {
			each.State += ", " + state.wrong
		}
		all = append(all, each)
	}
	return all
}

// fetch returns the text of a list and its ETag, which is the hash of a file's content; tokenlist.ErrSame when that is
// the one which is known.
func (l publicList) fetch(ctx context.Context, etag string) (text []byte, newETag string, err error) {
	if l.pool != nil {
		return tokenlist.Fetch(ctx, l.pool, etag)
	}
	if text, err = os.ReadFile(l.config.File); err != nil {
		return nil, "", fmt.Errorf("read token list: %w", err)
	}
	sum := sha256.Sum256(text)
	if newETag = hex.EncodeToString(sum[:]); newETag == etag {
		return nil, etag, tokenlist.ErrSame
	}
	return text, newETag, nil
}
