import { isPositiveBgl } from '@bakehouse/contract/money';
import { type ReactNode, useState } from 'react';
import { currencyChoice, showBoth } from '../lib/format/currency.ts';
import { fromBgl, toBgl } from '../lib/format/typed-amount.ts';
import { Field } from './field.tsx';
import { Input } from './input.tsx';

type Props = {
  label: string;
  /** In BGL. Text that isn't a valid amount is passed through unchanged. */
  value: string;
  onChange: (bgl: string) => void;
  /** Unit suffix, such as 'per hour'. */
  per?: string;
  help?: ReactNode;
  placeholder?: string;
  error?: string | undefined;
  className?: string | undefined;
};

/** An amount of money in the display currency. Shows the amount in both currencies below the field. */
export function AmountField({ label, value, onChange, per, help, placeholder, error, className }: Props) {
  const currency = currencyChoice.use();
  const [typed, setTyped] = useState('');
  // After the display currency changes, the same amount has a different text.
  const text = toBgl(typed, currency) === value ? typed : fromBgl(value, currency);
  const both = isPositiveBgl(value) && showBoth(value);
  return (
    <Field
      label={label}
      aside={per ? `${currency} ${per}` : currency}
      className={className}
      error={error}
      help={
        help && both ? (
          <>
            {both}. {help}
          </>
        ) : (
          (help ?? both)
        )
      }
    >
      <Input
        inputMode="decimal"
        autoComplete="off"
        value={text}
        placeholder={placeholder}
        onChange={({ target }) => {
          const next = target.value.trim();
          setTyped(next);
          onChange(toBgl(next, currency));
        }}
      />
    </Field>
  );
}
