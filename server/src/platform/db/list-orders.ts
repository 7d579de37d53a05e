import { sql } from 'kysely';

/**
 * Sort orders of lists whose rows have a title and a creation time. The id breaks ties, so that each row has
 * one position for pagination.
 */
export const listOrders = {
  created: { key: sql`created_at`, direction: sql`desc`, after: sql`<` },
  title: { key: sql`lower(title)`, direction: sql`asc`, after: sql`>` },
};

export type ListOrder = keyof typeof listOrders;
