package stories_test

import (
	"bytes"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"crossgate/sandbox"
	"crossgate/sandbox/sandboxtest"
)

// madeSwapJSON is the record of a swap that was made, as a wallet reads it.
type madeSwapJSON struct {
	SwapID, TransactionHash, Sender, Recipient struct{ StringValue string }
	TokenIn, TokenOut, ProtocolFee             struct{ Amount struct{ StringValue string } }
	BlockNumber                                uint64
	AffiliateFee                               *struct {
		AffiliateFee struct{ Amount struct{ StringValue string } }
		Beneficiary  struct{ StringValue string }
	}
}

// TestOurOwnSwapIsShownWithinItsBlock makes swaps by transactions of the gateway. With the block that has one, the path,
// the stream and the page show it, before any other block is there, and with the amounts that accounts moved.
func TestOurOwnSwapIsShownWithinItsBlock(t *testing.T) {
	t.Parallel()
	front := patientlyInFrontOf(t, sandboxtest.Start(t, sandbox.Options{}))
	for _, one := range []swapCase{{"coin", "USDC", "250000000000000000", true, ""}, {"USDC", "coin", "90000000", true, "0.3"}} {
		base, _ := front.world.Chain(8453)
		trader := newTrader(t, front.world, base, front.url)
		t.Run(one.String(), func(t *testing.T) {
			var swap swapJSON
			trader.ask(t, trader.query(one), &swap)
			if one.in != "coin" {
				trader.approve(t, common.HexToAddress(trader.tokens[one.in]), common.HexToAddress(swap.Tx.To), decimal(t, one.amount))
				trader.ask(t, trader.query(one), &swap)
			}
			out := common.HexToAddress(trader.tokens[one.out])
			before, share := trader.balance(t, out, trader.stranger), trader.balance(t, out, trader.affiliate)
			receipt := trader.transact(t, common.HexToAddress(swap.Tx.To), hexutil.MustDecode(swap.Tx.Data), decimal(t, swap.Tx.Value))
			got := new(big.Int).Sub(trader.balance(t, out, trader.stranger), before)
			share.Sub(trader.balance(t, out, trader.affiliate), share)
			trader.checkShown(t, one, receipt, got, share)
		})
	}
}

// checkShown wants the first answers about a transaction to be what its swap did.
func (w *trader) checkShown(t *testing.T, c swapCase, receipt *types.Receipt, got, share *big.Int) {
	t.Helper()
	where := fmt.Sprintf("%d/tx/%s", w.chain, strings.ToLower(receipt.TxHash.Hex()))
	shown, page := ask(t, http.MethodGet, w.gateway+"/swap/"+where, "")
	var made madeSwapJSON
	get(t, w.gateway+"/api/SameChainSwap/"+where, &made)
	if made.BlockNumber != receipt.BlockNumber.Uint64() || common.HexToAddress(made.Sender.StringValue) != w.address ||
		common.HexToAddress(made.Recipient.StringValue) != w.stranger || made.TokenIn.Amount.StringValue != c.amount ||
		made.TokenOut.Amount.StringValue != got.String() || decimal(t, made.ProtocolFee.Amount.StringValue).Sign() == 0 {
		t.Errorf("the swap is %+v, want %s for %s of the stranger in block %d", made, c.amount, got, receipt.BlockNumber)
	}
	paid := made.AffiliateFee != nil && made.AffiliateFee.AffiliateFee.Amount.StringValue == share.String() &&
		common.HexToAddress(made.AffiliateFee.Beneficiary.StringValue) == w.affiliate
	if paid != (c.affiliate != "") {
		t.Errorf("affiliate fee %+v, want %s of the outcome", made.AffiliateFee, share)
	}
	if shown.StatusCode != http.StatusOK || !bytes.Contains(page, []byte(made.SwapID.StringValue)) {
		t.Errorf("the page, %s, does not show swap %s", shown.Status, made.SwapID.StringValue)
	}
}
