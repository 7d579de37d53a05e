import { text } from '@bakehouse/contract/fields/text';
import { NOTE_LENGTH_MAX } from '@bakehouse/contract/limits';
import { zodResolver } from '@hookform/resolvers/zod';
import * as z from 'zod';
import { currencyChoice } from '../../../lib/format/currency.ts';
import { bglProblem } from '../../../lib/format/typed-amount.ts';

/** The server's rules for what an operator books, in the form's words. */
export const bookingResolver = (userLabel: string) =>
  zodResolver(
    z.object({
      user: z.string().trim().min(1, `${userLabel} username cannot be empty`),
      amount: z
        .string()
        .trim()
        .superRefine((amount, context) => {
          const message = bglProblem(amount, currencyChoice.get());
          if (message) context.addIssue({ code: 'custom', message });
        }),
      description: text('Description', NOTE_LENGTH_MAX),
    }),
  );
