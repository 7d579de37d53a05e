import { isPositiveBgl } from '@bakehouse/contract/money';
import { zodResolver } from '@hookform/resolvers/zod';
import * as z from 'zod';

/** The server's rules for a grant, in this form's words. */
export const grantResolver = zodResolver(
  z.object({
    recipient_id: z.string().trim().min(1, 'Recipient username cannot be empty'),
    amount: z.string().trim().refine(isPositiveBgl, 'Amount must be greater than 0, with at most 6 decimals'),
    description: z.string().trim(),
  }),
);
