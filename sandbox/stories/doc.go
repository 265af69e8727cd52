// Package stories tests whole gateways: each test starts a world of the sandbox, or replays recorded ledgers, puts a
// gateway in front of it, and reads its answers over HTTP as a client does.
package stories
