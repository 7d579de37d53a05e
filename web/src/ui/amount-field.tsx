import { isPositiveBgl } from '@bakehouse/contract/money';
import { type ReactNode, useState } from 'react';
import { currencyChoice, showBoth } from '../lib/format/currency.ts';
import { fromBgl, toBgl } from '../lib/format/typed-amount.ts';
import { Field } from './field.tsx';
import { Input } from './input.tsx';

type Props = {
  label: string;
  /** In BGL; what is no amount stays as it was typed. */
  value: string;
  onChange: (bgl: string) => void;
  /** What the amount is for: 'per hour'. */
  per?: string;
  help?: ReactNode;
  placeholder?: string;
  error?: string | undefined;
  className?: string | undefined;
};

/** An amount of money, typed in the currency of the header. Under it stands what that is in both, before other help. */
export function AmountField({ label, value, onChange, per, help, placeholder, error, className }: Props) {
  const currency = currencyChoice.use();
  const [typed, setTyped] = useState('');
  // In another currency the same amount has another text.
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
