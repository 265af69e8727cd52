package onchain_test

import (
	"strings"
	"testing"

	"crossgate/chain"
	"crossgate/internal/recorded"
	"crossgate/order"
	"crossgate/order/onchain"
)

// TestDecodeSolanaReadsRecordedOrders decodes the published encodings of three orders, and compares instruction data
// and events with what was recorded about them.
func TestDecodeSolanaReadsRecordedOrders(t *testing.T) {
	var encoded struct {
		Items []struct {
			Name        string
			OrderID     order.ID
			ProgramData []byte
			Data        hexBytes
		}
	}
	recorded.JSON(t, "facts/dln/vectors/solana_synthetic.json", &encoded)
	var known struct {
		Vectors []struct {
			OrderID         order.ID
			ReferralCode    uint32
			PercentFee      chain.Amount
			Metadata        hexBytes
			UnlockAuthority string
			AffiliateFee    *struct {
				Beneficiary string
				Amount      chain.Amount
			}
		}
	}
	recorded.JSON(t, "facts/dln/vectors/order_ids.json", &known)
	byOrder := map[order.ID]*call{}
	for _, item := range encoded.Items {
		if byOrder[item.OrderID] == nil {
			byOrder[item.OrderID] = &call{accounts: keys(1, 20)}
		}
		each := byOrder[item.OrderID]
		if item.ProgramData != nil {
			each.events = append(each.events, item.ProgramData)
			continue
		}
		each.data, each.program = item.Data, solanaContracts.DlnSource
		if strings.HasPrefix(item.Name, "fulfill_order") {
			each.program = solanaContracts.DlnDestination
		}
	}
	for id, each := range byOrder {
		if each.program == solanaContracts.DlnSource && len(each.events) == 1 { // if the event with the ID is not among them
			each.events = append(each.events, tagged(t, "bb291b490c3f0d54").raw(id[:]))
		}
		found, err := onchain.DecodeSolana(solanaContracts, run(wrapper(*each)), nobody)
		if err != nil || len(found) != 1 || found[0].Order != id {
			t.Errorf("DecodeSolana = %+v, %v, want one fact of order %s", found, err, id)
			continue
		}
		for _, vector := range known.Vectors {
			if vector.OrderID != id {
				continue
			}
			switch fact := found[0].Fact.(type) {
			case order.Created:
				if fact.ReferralCode != vector.ReferralCode || fact.PercentFee != vector.PercentFee || string(fact.Metadata) != string(vector.Metadata) {
					t.Errorf("order %s: %+v, want %+v", id, fact, vector)
				}
				fee := vector.AffiliateFee
				if (fact.Affiliate == nil) != (fee == nil) || fee != nil &&
					(fact.Affiliate.Amount != fee.Amount || fact.Affiliate.Beneficiary.Format(chain.SVM) != fee.Beneficiary) {
					t.Errorf("order %s: affiliate fee %+v, want %+v", id, fact.Affiliate, fee)
				}
			case order.Fulfilled:
				if got := fact.UnlockAuthority.Format(chain.SVM); got != vector.UnlockAuthority {
					t.Errorf("order %s: unlock authority %s, want %s", id, got, vector.UnlockAuthority)
				}
			}
		}
	}
	if len(byOrder) != 3 {
		t.Errorf("%d orders are encoded, want 3", len(byOrder))
	}
}
