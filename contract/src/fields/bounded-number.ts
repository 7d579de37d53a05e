import * as z from 'zod';
import { type NumberField, numberMessages } from './number-field.ts';

/** Returns the schema of a number with the limits, messages and default of its form field. */
export function numberOf(field: NumberField) {
  return boundedBy(field).default(field.default);
}

/** Returns the schema of a number with the limits and messages of its form field. */
export function boundedBy(field: Omit<NumberField, 'default'>) {
  const messages = numberMessages(field);
  const base = field.step === 1 ? z.int(messages.whole) : z.number(messages.type);
  const least = field.aboveMin ? base.gt(field.min, messages.min) : base.min(field.min, messages.min);
  return least.max(field.max, messages.max);
}
