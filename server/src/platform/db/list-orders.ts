import { sql } from 'kysely';

/**
 * The orders of a list whose rows have a title and a moment at which they were made. The id comes after either, so that
 * each row has one place, behind which the next page begins.
 */
export const listOrders = {
  created: { key: sql`created_at`, direction: sql`desc`, after: sql`<` },
  title: { key: sql`lower(title)`, direction: sql`asc`, after: sql`>` },
};

export type ListOrder = keyof typeof listOrders;
