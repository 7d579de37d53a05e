import { localDay } from '../lib/format/format-time.ts';
import { Field } from './field.tsx';
import { Input } from './input.tsx';

type Props = {
  /** A calendar day; empty for none. */
  value: string;
  onChange: (day: string) => void;
  error?: string | undefined;
  /** What ends with that day. */
  help: string;
};

/** The day with whose end something ends, for what may also have no end. Its input is called `lastDay`. */
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

/** What is wrong with the day in a form that is submitted; undefined where nothing is. A date that is typed in part reads as an empty one. */
export function lastDayProblem(form: HTMLFormElement, today = localDay(new Date())): string | undefined {
  const input = form.elements.namedItem('lastDay');
  if (!(input instanceof HTMLInputElement)) return undefined;
  if (input.validity.badInput) return 'Enter the whole date, or leave it empty';
  return input.value !== '' && input.value < today ? 'Choose today or a later day' : undefined;
}
