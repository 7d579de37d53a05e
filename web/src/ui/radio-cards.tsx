import { Radio } from '@base-ui/react/radio';
import { RadioGroup } from '@base-ui/react/radio-group';
import { type ReactNode, useId } from 'react';
import { cx } from '../lib/cx.ts';

export type RadioCard<Value extends string> = {
  value: Value;
  label: ReactNode;
  description?: ReactNode;
  icon?: ReactNode;
  disabled?: boolean;
};

type Props<Value extends string> = {
  value: Value | null;
  onChange: (value: Value) => void;
  options: readonly RadioCard<Value>[];
  /** Side-by-side cards, if there is room. */
  columns?: 1 | 2 | 3;
  /** Required outside a `Field`. */
  'aria-label'?: string;
};

const grids = { 1: '', 2: 'sm:grid-cols-2', 3: 'sm:grid-cols-3' };

/** Single choice from a few options with descriptions. */
export function RadioCards<Value extends string>({
  value,
  onChange,
  options,
  columns = 1,
  ...rest
}: Props<Value>) {
  return (
    <RadioGroup
      aria-label={rest['aria-label']}
      value={value ?? ''}
      onValueChange={(next) => onChange(next as Value)}
      className={cx('grid gap-2', grids[columns])}
    >
      {options.map((option) => (
        <Card key={option.value} {...option} />
      ))}
    </RadioGroup>
  );
}

function Card({ value, label, description, icon, disabled }: RadioCard<string>) {
  const id = useId();
  return (
    <Radio.Root
      value={value}
      disabled={disabled}
      aria-labelledby={`${id}-label`}
      aria-describedby={description ? `${id}-description` : undefined}
      // Submit on Enter as in other fields; the radio ignores it by default.
      onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.closest('form')?.requestSubmit()}
      className="flex cursor-pointer items-start gap-3 rounded-xl border border-line-strong bg-surface p-3.5 text-left transition-colors hover:border-control-line data-checked:border-accent data-checked:bg-accent-soft data-disabled:opacity-50"
    >
      {icon && <span className="mt-0.5 text-muted [&_svg]:size-4.5">{icon}</span>}
      <span className="min-w-0 flex-1">
        <span id={`${id}-label`} className="block font-medium">
          {label}
        </span>
        {description && (
          <span id={`${id}-description`} className="mt-0.5 block text-compact text-muted leading-5">
            {description}
          </span>
        )}
      </span>
      <span className="mt-0.5 flex size-4 shrink-0 items-center justify-center rounded-full border border-control-line bg-surface">
        <Radio.Indicator className="size-2 rounded-full bg-accent data-unchecked:hidden" />
      </span>
    </Radio.Root>
  );
}
