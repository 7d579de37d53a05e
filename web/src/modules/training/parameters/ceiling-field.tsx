import { isPositiveBgl, parseBgl } from '@bakehouse/contract/money';
import { currencyChoice, showApart } from '../../../lib/format/currency.ts';
import { AmountField } from '../../../ui/amount-field.tsx';

type Props = {
  /** In BGL; empty: the usual one; what is no amount stays as it was typed. */
  value: string;
  /** The ceiling where none is typed, in BGL. */
  usual: string;
  /** What the run is expected to cost, in BGL: the usual ceiling does not look the same, and a lower one is warned of. */
  expected?: string;
  error?: string | undefined;
  onChange: (value: string) => void;
  className?: string;
};

/** What a run may cost at most, typed in the chosen currency. */
export function CeilingField({ usual, expected = '0', ...field }: Props) {
  const currency = currencyChoice.use();
  const [placeholder] = showApart(usual, expected, currency);
  const isTooLow = isPositiveBgl(field.value) && parseBgl(field.value) < parseBgl(expected);
  return (
    <AmountField
      label="Ceiling"
      placeholder={placeholder}
      help={
        isTooLow ? (
          <span role="status" className="text-warn">
            This is less than the {showApart(expected, field.value, currency)[0]} that the run is expected to
            cost: it will probably save its work and stop before it is done.
          </span>
        ) : (
          'You pay at most this. A run that needs more goes on free for as much again, then saves its work and stops.'
        )
      }
      {...field}
    />
  );
}
