import { AlertDialog } from '@base-ui/react/alert-dialog';
import type { ReactNode } from 'react';
import { cx } from '../lib/cx.ts';
import { Button } from './button.tsx';
import { backdropClass, viewportClass } from './dialog-class.ts';

type Props = {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  /** Describes what will be deleted or changed. */
  description: ReactNode;
  /** Label of the confirm button. */
  action: string;
  tone?: 'danger' | 'primary';
  /** Keeps the dialog open with a spinner. */
  pending?: boolean;
  /** Disables confirming; the description must state why. */
  disabled?: boolean;
  onConfirm?: () => void;
  /** Id of a form in the description that the button submits instead of calling `onConfirm`. */
  form?: string;
  cancelLabel?: string;
};

/** Asks for confirmation before an irreversible action. */
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
        {/* Show the backdrop over an open dialog too, so that this doesn't look like part of it. */}
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
