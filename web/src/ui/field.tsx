import { Field as BaseField } from '@base-ui/react/field';
import { CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { cx } from '../lib/cx.ts';

type Props = {
  label: ReactNode;
  help?: ReactNode;
  /** Error text below the field; also marks the control as invalid. */
  error?: string | undefined;
  /** Shown at the right of the label, such as a count, a link or 'Optional'. */
  aside?: ReactNode;
  className?: string;
  /** For groups (checkboxes, radio cards) the label names the group. */
  children: ReactNode;
};

/** Associates a label, help text and error with a control for assistive technology. */
export function Field({ label, help, error, aside, className, children }: Props) {
  return (
    <BaseField.Root invalid={error !== undefined} className={cx('flex min-w-0 flex-col gap-1.5', className)}>
      <div className="flex items-baseline justify-between gap-3">
        <BaseField.Label className="font-medium text-compact text-ink leading-5">{label}</BaseField.Label>
        {aside && <span className="text-xs text-faint">{aside}</span>}
      </div>
      {children}
      <BaseField.Error
        match={error !== undefined}
        className="flex items-start gap-1.5 text-compact text-bad leading-5"
      >
        <CircleAlert aria-hidden className="mt-0.75 size-3.5 shrink-0" />
        <span>{error}</span>
      </BaseField.Error>
      {help && (
        <BaseField.Description className="text-compact text-muted leading-5">{help}</BaseField.Description>
      )}
    </BaseField.Root>
  );
}
