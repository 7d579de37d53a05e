import { Select as Base } from '@base-ui/react/select';
import { Check, ChevronsUpDown } from 'lucide-react';
import type { ReactNode } from 'react';
import { cx } from '../lib/cx.ts';
import { controlClass } from './control-class.ts';
import { itemClass, popupClass, popupLayer } from './popup-class.ts';

type Option<Value extends string> = {
  value: Value;
  label: string;
  description?: ReactNode;
  disabled?: boolean;
};

type Props<Value extends string> = {
  value: Value | null;
  onChange: (value: Value) => void;
  options: readonly Option<Value>[];
  placeholder?: string;
  /** Required outside a `Field`. */
  'aria-label'?: string;
  size?: 'sm' | 'md';
  className?: string;
};

/** Single choice from a few options, with type-ahead and arrow keys. */
export function Select<Value extends string>({
  value,
  onChange,
  options,
  placeholder = 'Choose…',
  size = 'md',
  ...props
}: Props<Value>) {
  return (
    <Base.Root items={options} value={value} onValueChange={(next) => next !== null && onChange(next)}>
      <Base.Trigger
        aria-label={props['aria-label']}
        className={controlClass(
          'flex items-center justify-between gap-2 text-left',
          size === 'sm' ? 'h-8 px-2.5 text-compact' : 'h-9 px-3',
          props.className,
        )}
      >
        {/* The library would show '' as if nothing was chosen. */}
        <Base.Value className={cx('truncate', value === null && 'text-faint')}>
          {() => options.find((option) => option.value === value)?.label ?? value ?? placeholder}
        </Base.Value>
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
                  className={cx(itemClass, 'relative pr-8')}
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
