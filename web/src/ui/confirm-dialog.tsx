import { AlertDialog } from '@base-ui/react/alert-dialog';
import type { ReactNode } from 'react';
import { cx } from '../lib/cx.ts';
import { Button } from './button.tsx';
import { backdropClass, viewportClass } from './dialog-class.ts';

type Props = {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** The question. */
  title: string;
  /** What will be gone or changed. */
  description: ReactNode;
  /** The verb on the button. */
  action: string;
  tone?: 'danger' | 'primary';
  /** The dialog stays open with a spinner while this is true. */
  pending?: boolean;
  /** The description says what stands against it. */
  disabled?: boolean;
  onConfirm?: () => void;
  /** The id of the form in the description that the button submits, in place of `onConfirm`. */
  form?: string;
  cancelLabel?: string;
};

/** Asks once before something that cannot be taken back. */
export function ConfirmDialog({
  open,
  onOpenChange,
  title,
  description,
  action,
  tone = 'danger',
  pending,
  disabled,
  onConfirm,
  form,
  cancelLabel = 'Cancel',
}: Props) {
  return (
    <AlertDialog.Root open={open} onOpenChange={(next) => !pending && onOpenChange(next)}>
      <AlertDialog.Portal>
        {/* Over a dialog too, which it would else seem to be a part of. */}
        <AlertDialog.Backdrop forceRender className={backdropClass} />
        <AlertDialog.Viewport
          className={cx(viewportClass, 'grid grid-cols-1 place-items-end p-3 sm:place-items-center')}
        >
          <AlertDialog.Popup className="w-full max-w-md rounded-2xl bg-surface shadow-pop outline-none transition-[opacity,translate] duration-150 data-starting-style:translate-y-2 data-starting-style:opacity-0 data-ending-style:opacity-0">
            <div className="p-5">
              <AlertDialog.Title className="font-semibold text-base">{title}</AlertDialog.Title>
              <AlertDialog.Description render={<div />} className="mt-1.5 text-muted">
                {description}
              </AlertDialog.Description>
            </div>
            <footer className="flex justify-end gap-2 border-line border-t px-5 py-3.5">
              <AlertDialog.Close render={<Button disabled={pending}>{cancelLabel}</Button>} />
              <Button
                variant={tone}
                loading={pending}
                disabled={disabled}
                onClick={onConfirm}
                {...(form && { type: 'submit', form })}
              >
                {action}
              </Button>
            </footer>
          </AlertDialog.Popup>
        </AlertDialog.Viewport>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
