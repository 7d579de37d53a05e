import { currencyChoice, showUnrounded } from '../../../lib/format/currency.ts';
import { AmountField } from '../../../ui/amount-field.tsx';

type Props = {
  /** In BGL; empty: the usual one; what is no amount stays as it was typed. */
  value: string;
  /** The ceiling where none is typed, in BGL. */
  usual: string;
  /** What the run is expected to cost, in BGL: a lower ceiling is warned of. */
  expected?: string;
  error?: string | undefined;
  onChange: (value: string) => void;
  className?: string;
};

/** What a run may cost at most, typed in the chosen currency. */
export function CeilingField({ usual, expected, ...field }: Props) {
  const currency = currencyChoice.use();
  const isTooLow = expected !== undefined && field.value !== '' && Number(field.value) < Number(expected);
  return (
    <AmountField
      label="Ceiling"
      placeholder={showUnrounded(usual, currency)}
      help={
        isTooLow
          ? `This is less than the ${showUnrounded(expected, currency)} that the run is expected to cost: it will probably save its work and stop before it is done.`
          : 'At this cost the run saves its work and stops. You can resume it with a higher ceiling.'
      }
      {...field}
    />
  );
}
