import type { Database, Transaction } from '../../../platform/db/database.ts';
import { CARD_PATH } from '../queries.ts';
import type { CardFields } from './card-metadata.ts';
import type { CardData } from './parse-card.ts';

/** Updates the card's list fields on all assets with this card. */
export async function updateCardFields(
  db: Database | Transaction,
  sha256: string,
  fields: CardFields,
): Promise<void> {
  await db
    .updateTable('assets')
    .set(fields)
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('asset_files')
        .select('asset_id')
        .where('sha256', '=', sha256)
        .where('path', '=', CARD_PATH)
        .where('last_number', 'is', null),
    )
    .execute();
}

/** Returns the metadata of a card, locked against changes until the transaction ends. */
export async function lockCardData(tx: Transaction, sha256: string): Promise<CardData | null> {
  const row = await tx
    .selectFrom('card_data')
    .select('data')
    .where('sha256', '=', sha256)
    .forShare()
    .executeTakeFirst();
  return (row?.data ?? null) as CardData | null;
}
