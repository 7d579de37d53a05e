import { Checkbox as Base } from '@base-ui/react/checkbox';
import { Field } from '@base-ui/react/field';
import { Toggle } from '@base-ui/react/toggle';
import { ToggleGroup } from '@base-ui/react/toggle-group';
import { Check } from 'lucide-react';
import { type ReactNode, useId } from 'react';
import { segmentClass, segmentsClass } from './segmented.tsx';

export const checkboxLabelClass = 'flex w-fit items-start gap-2.5 select-none';

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
          className="peer size-[1.125rem] shrink-0 cursor-pointer appearance-none rounded-[0.3125rem] border border-control-line bg-surface checked:border-accent checked:bg-accent focus-visible:outline-2 focus-visible:outline-offset-2 focus-visible:outline-focus disabled:opacity-50 data-invalid:not-checked:border-bad"
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

/** A bare checkbox. Must be wrapped in its label. */
export function CheckboxBox(props: Base.Root.Props) {
  return (
    <Base.Root
      {...props}
      className="mt-0.5 flex size-[1.125rem] shrink-0 cursor-pointer items-center justify-center rounded-[0.3125rem] border border-control-line bg-surface focus-visible:outline-2 focus-visible:outline-offset-2 focus-visible:outline-focus data-checked:border-accent data-checked:bg-accent data-disabled:opacity-50 data-invalid:not-data-checked:border-bad"
    >
      <Base.Indicator className="text-accent-ink data-unchecked:hidden">
        <Check aria-hidden className="size-3.5" strokeWidth={3} />
      </Base.Indicator>
    </Base.Root>
  );
}

type YesNoProps = {
  /** Null if nothing is selected. */
  value: boolean | null;
  onChange: (value: boolean | null) => void;
  /** Accessible name of the group. */
  label: string;
};

/** Yes or No. Pressing the selected one again clears it. */
export function YesNo({ value, onChange, label }: YesNoProps) {
  return (
    <ToggleGroup
      aria-label={label}
      value={value === null ? [] : [value ? 'yes' : 'no']}
      onValueChange={([chosen]) => onChange(chosen === undefined ? null : chosen === 'yes')}
      className={segmentsClass}
    >
      <Toggle value="yes" className={segmentClass}>
        Yes
      </Toggle>
      <Toggle value="no" className={segmentClass}>
        No
      </Toggle>
    </ToggleGroup>
  );
}
