package onchain_test

import (
	"testing"

	"crossgate/chain"
	"crossgate/order/onchain"
)

// FuzzDecodeSolana feeds any instruction data and any event to the protocol's programs, and any line to the
// logs. Terms that come out always give the id they came with.
func FuzzDecodeSolana(f *testing.F) {
	from, to := fromSolana(f), toSolana(f)
	claim := claim(f, "5951b44f8e9042fb", "c82da7fb31e85b0d", from.ID, hash("message"))
	seeds := []call{
		createWithNonce(f, from), fulfil(f, to), sendUnlock(f, to.ID, hash("message")), claim.calls[0],
		{data: tagged(f, "2c0d9c04eb26b7e9").bytes(key(1).Bytes()).u64(0), events: [][]byte{tagged(f, "505f1b66dda2b118")}},
		{data: tagged(f, "40bc81ff40818b66").raw(from.ID[:]).u64(7), events: [][]byte{tagged(f, "06bd714e8b328845").u64(107).u64(8)}},
		{data: tagged(f, "5f81edf00831df84").terms(to.Terms).raw(to.ID[:]), events: [][]byte{tagged(f, "6c388044a871a8ef")}},
		executed(f, to.ID, 1),
	}
	for i, seed := range seeds {
		f.Add(seed.data, seed.events[0], []byte("Program log: "), uint8(i))
	}
	f.Add([]byte(nil), []byte(nil), []byte("Log truncated"), uint8(1))
	f.Add([]byte(nil), []byte(nil), []byte("Program "+solanaContracts.DlnSource.Format(chain.SVM)+" invoke [1]"), uint8(1))
	f.Fuzz(func(t *testing.T, data, event, line []byte, place uint8) {
		for _, program := range []chain.Address{
			solanaContracts.DlnSource, solanaContracts.DlnDestination, solanaContracts.Gate, solanaContracts.ExternalCallAdapter,
		} {
			each := call{
				program: program, accounts: keys(1, 22), data: data,
				events: [][]byte{event, tagged(t, "bb291b490c3f0d54").raw(from.ID[:])},
			}
			tx := run(wrapper(each, sending(t, hash("message"))), claim)
			tx.Logs[int(place)%len(tx.Logs)] = string(line)
			found, err := onchain.DecodeSolana(solanaContracts, tx, of(to.ID))
			if err == nil {
				checkIDs(t, found)
			}
			for _, account := range onchain.UnnamedOrders(solanaContracts, tx) {
				if account.IsAbsent() {
					t.Error("UnnamedOrders names no account")
				}
			}
		}
	})
}
