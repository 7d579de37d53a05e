import { sql } from 'kysely';

/**
 * Sort orders for rows with a title and a creation time. Rows that are equal in these are ordered by id, so
 * that pagination is stable.
 */
export const listOrders = {
  created: { key: sql`created_at`, direction: sql`desc`, after: sql`<` },
  title: { key: sql`lower(title)`, direction: sql`asc`, after: sql`>` },
};

export type ListOrder = keyof typeof listOrders;
