import { isPositiveBgl } from '@bakehouse/contract/money';
import { zodResolver } from '@hookform/resolvers/zod';
import * as z from 'zod';

/** The server's rules for what an operator books, in the form's words. */
export const bookingResolver = (userLabel: string) =>
  zodResolver(
    z.object({
      user: z.string().trim().min(1, `${userLabel} username cannot be empty`),
      amount: z
        .string()
        .trim()
        .refine(isPositiveBgl, 'Amount must be greater than 0, with at most 6 decimals'),
      description: z.string().trim(),
    }),
  );
