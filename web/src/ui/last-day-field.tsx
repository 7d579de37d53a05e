import { localDay } from '../lib/format/format-time.ts';
import { Field } from './field.tsx';
import { Input } from './input.tsx';

type Props = {
  /** ISO date; empty for no end. */
  value: string;
  onChange: (day: string) => void;
  error?: string | undefined;
  /** Describes what ends on that day. */
  help: string;
};

/** An optional expiry date, inclusive. Its input is named `lastDay`. */
export function LastDayField({ value, onChange, error, help }: Props) {
  return (
    <Field label="Last day" aside="Optional" error={error} help={help}>
      <Input
        name="lastDay"
        type="date"
        value={value}
        min={localDay(new Date())}
        onChange={(event) => onChange(event.target.value)}
      />
    </Field>
  );
}

/** Returns the error for the date on submit, if any. A partly typed date reads as an empty value. */
export function lastDayProblem(form: HTMLFormElement, today = localDay(new Date())): string | undefined {
  const input = form.elements.namedItem('lastDay');
  if (!(input instanceof HTMLInputElement)) return undefined;
  if (input.validity.badInput) return 'Enter a complete date, or leave it empty';
  return input.value !== '' && input.value < today ? 'Choose today or a later day' : undefined;
}
