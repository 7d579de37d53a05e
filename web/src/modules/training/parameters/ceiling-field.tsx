import { useState } from 'react';
import { currencyChoice, showAmount } from '../../../lib/format/currency.ts';
import { Field } from '../../../ui/field.tsx';
import { Input } from '../../../ui/input.tsx';
import { fromBgl, toBgl } from './ceiling-currency.ts';

type Props = {
  /** In BGL; empty: the usual one; what is no amount stays as it was typed. */
  value: string;
  /** The ceiling where none is typed, in BGL. */
  usual: string;
  error?: string | undefined;
  onChange: (value: string) => void;
  className?: string;
};

/** What a run may cost at most, typed in the chosen currency. */
export function CeilingField({ value, usual, error, onChange, className }: Props) {
  const currency = currencyChoice.use();
  const [typed, setTyped] = useState({ text: fromBgl(value, currency), currency });
  // In another currency the same amount has another text.
  const text = typed.currency === currency ? typed.text : fromBgl(value, currency);
  return (
    <Field
      label="Ceiling"
      aside={currency}
      className={className}
      error={error}
      help="At this cost the run saves its work and stops. You can resume it with a higher ceiling."
    >
      <Input
        inputMode="decimal"
        autoComplete="off"
        value={text}
        placeholder={showAmount(usual, currency)}
        onChange={({ target }) => {
          const next = target.value.trim();
          setTyped({ text: next, currency });
          onChange(toBgl(next, currency));
        }}
      />
    </Field>
  );
}
