package sandbox

import (
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"crossgate/chain"
	"crossgate/sandbox/contracts"
	"crossgate/sandbox/solana"
)

// Rewards for executing the instructions of a message on Solana, in lamports.
const (
	initWalletReward = uint64(2_100_000)
	claimReward      = uint64(30_000)
)

// create creates one maker's orders in one transaction.
func (s *Solana) create(at time.Time, proposals ...proposal) ([]Order, error) {
	var creations []solana.Creation
	for _, p := range proposals {
		creations = append(creations, s.creation(p))
	}
	created, err := s.ledger.Create(at, proposals[0].way, creations...)
	if err != nil {
		return nil, fmt.Errorf("create order on Solana: %w", err)
	}
	orders := make([]Order, len(created))
	for i, c := range created {
		orders[i] = orderOf(c)
	}
	return orders, nil
}

func (s *Solana) creation(p proposal) solana.Creation {
	c := solana.Creation{
		Maker: p.maker.Wallet, Give: givenOn(p.giveToken), Amount: p.giveAmount.Uint64(),
		Take:     solana.Offer{Chain: uint64(p.takeChain), Token: p.takeToken, Amount: p.takeAmount},
		Receiver: p.receiver, Authority: p.authority, AllowedTaker: p.allowedTaker, ExternalCall: p.externalCall,
		Nonce: p.salt, Metadata: p.metadata,
	}
	if len(p.cancelBeneficiary) > 0 {
		c.CancelBeneficiary = solana.Key(p.cancelBeneficiary)
	}
	if p.affiliate != nil {
		c.Affiliate = &solana.Affiliate{Beneficiary: solana.Key(p.affiliate.beneficiary), Amount: p.affiliate.amount.Uint64()}
	}
	if p.referral != 0 {
		c.Referral = &p.referral
	}
	if !p.payer.isNobody() {
		c.Payer = p.payer.Wallet
	}
	return c
}

// givenOn returns a token as the ledger knows it, or the coin if no mint matches.
func givenOn(t Token) solana.Token {
	for _, known := range solana.Tokens {
		if known.Mint == t.Mint {
			return known
		}
	}
	return solana.Native
}

func orderOf(c solana.Order) Order {
	return Order{ID: c.Terms.ID(), CreationTx: chain.NewTxHash(c.Creation[:]), terms: c.Terms, metadata: c.Metadata}
}

func (s *Solana) fulfil(at time.Time, o Order, taker Account, how fulfilment) error {
	if how.extra != nil || how.runsCall || how.throughContract {
		return errors.New("on Solana orders are fulfilled exactly, by their takers")
	}
	f := solana.Fulfilment{Terms: o.terms, Taker: taker.Wallet}
	if !how.unlockAuthority.isNobody() {
		f.UnlockAuthority = how.unlockAuthority.Wallet.Key
	}
	return s.ledger.Fulfil(at, solana.Way{}, f)
}

func (s *Solana) sendUnlock(at time.Time, taker Account, beneficiary []byte, orders []Order) error {
	ids := make([][32]byte, len(orders))
	for i, o := range orders {
		ids[i] = o.ID
	}
	return s.ledger.SendUnlock(at, taker.Wallet, beneficiary, ids...)
}

// sendCancel cancels the order, unless it is already cancelled, and sends the message about it.
func (s *Solana) sendCancel(at time.Time, o Order, authority Account, beneficiary []byte) error {
	if status, _ := s.ledger.Taken(o.ID); status != solana.Cancelled {
		if err := s.ledger.Cancel(at, o.terms, authority.Wallet); err != nil {
			return err
		}
	}
	return s.ledger.SendCancel(at, o.ID, authority.Wallet, beneficiary)
}

// message returns the message about the order that left Solana, as an EVM gate claims it.
func (s *Solana) message(o Order) (message, error) {
	sent, err := s.ledger.Message(o.ID)
	if err != nil {
		return message{}, err
	}
	autoParams, err := claimedParams.Pack(claimedTuple{
		ExecutionFee: new(big.Int), Flags: new(big.Int).SetUint64(sent.Flags),
		FallbackAddress: common.BytesToAddress(sent.Receiver), Data: sent.Data, NativeSender: sent.Sender[:],
	})
	if err != nil {
		return message{}, fmt.Errorf("parameters of message %x: %w", sent.Submission, err)
	}
	return message{
		to: chain.ID(sent.To), from: chain.Solana, debridgeID: sent.DebridgeID,
		receiver: common.BytesToAddress(sent.Receiver), nonce: new(big.Int).SetUint64(sent.Nonce), autoParams: autoParams,
	}, nil
}

// claim executes messages from EVM chains: a message about one order in two transactions, one about several orders in
// one.
func (s *Solana) claim(at time.Time, keeper Account, messages ...message) error {
	for _, m := range messages {
		if err := s.ledger.Claim(at, keeper.Wallet, m.inbound, len(m.inbound.Orders) > 1); err != nil {
			return err
		}
	}
	return nil
}

// unlockingOnSolana encodes the call by which an EVM chain sends an unlock to Solana.
func unlockingOnSolana(beneficiary []byte, orders []Order) []byte {
	to, fee, all := [32]byte(beneficiary), new(big.Int), make([]solana.Terms, len(orders))
	for i, o := range orders {
		if all[i] = o.terms; len(o.terms.ExternalCall) > 0 { // the contract wants its hash
			all[i].ExternalCall = crypto.Keccak256(o.terms.ExternalCall)
		}
	}
	if len(all) == 1 {
		return contracts.DlnDestination.Pack("sendSolanaUnlock", all[0], to, fee, initWalletReward, claimReward)
	}
	return contracts.DlnDestination.Pack("sendBatchSolanaUnlock", all, to, fee, initWalletReward, claimReward)
}
