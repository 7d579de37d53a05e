import { currencyChoice } from '../../lib/format/currency.ts';
import { Segmented } from '../../ui/segmented.tsx';

/** Switches all amounts between USD and BGL. */
export function CurrencySwitch() {
  const currency = currencyChoice.use();
  return (
    <Segmented
      label="Currency"
      value={currency}
      onChange={currencyChoice.set}
      options={[
        { value: 'USD', label: 'USD' },
        { value: 'BGL', label: 'BGL' },
      ]}
    />
  );
}
