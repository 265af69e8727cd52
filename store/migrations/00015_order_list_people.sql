-- +goose Up

-- Mostly the maker signs the creation and may patch the order, and the receiver may cancel it, who often is the maker as
-- well. Only who is somebody else needs an entry of his own: each entry is another page to write.
DROP INDEX order_list_creator;
DROP INDEX order_list_receiver;
DROP INDEX order_list_give_authority;
DROP INDEX order_list_order_authority;
CREATE INDEX order_list_other_creator ON order_list (creator, created DESC) WHERE creator <> maker;
CREATE INDEX order_list_other_receiver ON order_list (receiver, created DESC) WHERE receiver <> maker;
CREATE INDEX order_list_other_give_authority ON order_list (give_authority, created DESC) WHERE give_authority <> maker;
CREATE INDEX order_list_other_order_authority ON order_list (order_authority, created DESC) WHERE order_authority <> receiver;

-- +goose Down
DROP INDEX order_list_other_order_authority;
DROP INDEX order_list_other_give_authority;
DROP INDEX order_list_other_receiver;
DROP INDEX order_list_other_creator;
CREATE INDEX order_list_creator ON order_list (creator, created DESC);
CREATE INDEX order_list_receiver ON order_list (receiver, created DESC);
CREATE INDEX order_list_give_authority ON order_list (give_authority, created DESC);
CREATE INDEX order_list_order_authority ON order_list (order_authority, created DESC);
