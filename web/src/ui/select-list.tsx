import { Select as Base } from '@base-ui/react/select';
import { Check, ChevronsUpDown } from 'lucide-react';
import type { ReactNode } from 'react';
import { cx } from '../lib/cx.ts';
import { itemClass, popupClass, popupLayer } from './popup-class.ts';

export type SelectOption<Value extends string> = {
  value: Value;
  label: string;
  description?: ReactNode;
  disabled?: boolean;
};

export type SelectProps<Value extends string> = {
  value: Value | null;
  onChange: (value: Value) => void;
  options: readonly SelectOption<Value>[];
  placeholder?: string;
  /** Required outside a `Field`. */
  'aria-label'?: string;
  size?: 'sm' | 'md';
  className?: string;
};

type Props = Required<
  Pick<SelectProps<string>, 'value' | 'onChange' | 'options' | 'placeholder' | 'className'>
> & {
  label: string | undefined;
};

/** The full select, mounted when the select is first opened. */
export function SelectList({ value, onChange, options, placeholder, className, label }: Props) {
  return (
    <Base.Root
      // It is mounted by a request to open it.
      defaultOpen
      items={options}
      value={value}
      onValueChange={(next) => next !== null && onChange(next)}
    >
      <Base.Trigger aria-label={label} className={className}>
        <Base.Value className="truncate data-placeholder:text-faint" placeholder={placeholder} />
        <Base.Icon className="shrink-0 text-muted">
          <ChevronsUpDown aria-hidden className="size-3.5" />
        </Base.Icon>
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner
          className={popupLayer}
          sideOffset={4}
          alignItemWithTrigger={false}
          collisionPadding={8}
        >
          <Base.Popup
            className={cx(
              popupClass,
              'max-h-[min(20rem,var(--available-height))] min-w-(--anchor-width) overflow-y-auto',
            )}
          >
            <Base.List>
              {options.map((option) => (
                <Base.Item
                  key={option.value}
                  value={option.value}
                  disabled={option.disabled}
                  className={cx(itemClass, 'pr-8 relative')}
                >
                  <div className="min-w-0">
                    <Base.ItemText>{option.label}</Base.ItemText>
                    {option.description && <div className="text-muted text-xs">{option.description}</div>}
                  </div>
                  <Base.ItemIndicator className="absolute right-2.5">
                    <Check aria-hidden />
                  </Base.ItemIndicator>
                </Base.Item>
              ))}
            </Base.List>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
