import { Field } from '@base-ui/react/field';
import { Check } from 'lucide-react';
import { type ReactNode, useId } from 'react';

type Props = {
  checked: boolean;
  onChange: (checked: boolean) => void;
  label: ReactNode;
};

/** A checkbox with a clickable label, which also names it inside a `Field`. */
export function Checkbox({ checked, onChange, label }: Props) {
  const labelId = useId();
  return (
    <label className={checkboxLabelClass}>
      <span className="relative mt-0.5 flex">
        <Field.Control
          type="checkbox"
          checked={checked}
          onChange={(event) => onChange(event.target.checked)}
          aria-labelledby={labelId}
          className="peer size-4.5 shrink-0 cursor-pointer appearance-none rounded-sm border border-control-line bg-surface checked:border-accent checked:bg-accent focus-visible:outline-2 focus-visible:outline-offset-2 focus-visible:outline-focus disabled:opacity-50 data-invalid:not-checked:border-bad"
        />
        <Check
          aria-hidden
          className="pointer-events-none absolute top-0.5 left-0.5 hidden size-3.5 text-accent-ink peer-checked:block"
          strokeWidth={3}
        />
      </span>
      <span id={labelId}>{label}</span>
    </label>
  );
}

export const checkboxLabelClass = 'flex w-fit items-start gap-2.5 select-none';
