import * as z from 'zod';
import { type NumberField, numberMessages } from './number-field.ts';

/** A number by its entry in the table: same bounds, messages and default as in the form. */
export function numberOf(field: NumberField) {
  return boundedBy(field).default(field.default);
}

/** A number within bounds, with the messages of the form. */
export function boundedBy(field: Omit<NumberField, 'default'>) {
  const messages = numberMessages(field);
  const base = field.step === 1 ? z.int(messages.whole) : z.number(messages.type);
  const least = field.aboveMin ? base.gt(field.min, messages.min) : base.min(field.min, messages.min);
  return least.max(field.max, messages.max);
}
