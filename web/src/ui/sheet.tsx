import { Dialog } from '@base-ui/react/dialog';
import { useRouter } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { cx } from '../lib/cx.ts';
import { useOnline } from '../lib/live/online.ts';
import { buttonClass } from './button.tsx';
import { backdropClass, viewportClass } from './dialog-class.ts';
import { firstField } from './first-field.ts';
import { focusTitle } from './focus-title.ts';
import { type ClosingQuestion, useClosingQuestion } from './use-closing-question.tsx';

type Props = {
  open: boolean;
  onClose: () => void;
  title: ReactNode;
  description?: ReactNode;
  /** Sticky content below the title, such as a stepper. */
  subheader?: ReactNode;
  /** Sticky buttons at the bottom. */
  footer?: ReactNode;
  /** Has unsaved input: closing asks first. Defaults to asking whether to discard it. */
  dirty?: boolean | ClosingQuestion;
  size?: 'sm' | 'md' | 'lg' | 'xl';
  side?: 'right' | 'left';
  children: ReactNode;
};

const widths = { sm: 'max-w-76', md: 'sm:max-w-md', lg: 'sm:max-w-2xl', xl: 'sm:max-w-6xl' };

/** A panel that slides in over the page. Escape closes it, after confirmation if `dirty`. */
export function Sheet({
  open,
  onClose,
  title,
  description,
  subheader,
  footer,
  dirty = false,
  size = 'md',
  side = 'right',
  children,
}: Props) {
  const { requestClose, question } = useClosingQuestion(open && dirty, 'shell', onClose);
  const finalFocus = useFinalFocus(open);
  const content = useRef<HTMLDivElement>(null);
  // A sheet that is open on first render would appear without its transition.
  const [mounted, setMounted] = useState(false);
  useEffect(() => setMounted(true), []);
  return (
    <Dialog.Root open={open && mounted} onOpenChange={(next) => !next && requestClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={backdropClass} />
        <Dialog.Viewport
          className={cx(
            viewportClass,
            'flex',
            side === 'right' ? 'sheet-right justify-end' : 'justify-start',
          )}
        >
          <Dialog.Popup
            // On touch, don't focus a field, because that opens the on-screen keyboard.
            initialFocus={(type) => (type === 'touch' ? true : (firstField(content.current) ?? true))}
            finalFocus={finalFocus}
            className={cx(
              'flex h-full w-full flex-col bg-surface shadow-pop outline-none transition-transform duration-200 ease-out',
              side === 'right'
                ? 'data-starting-style:translate-x-full data-ending-style:translate-x-full'
                : 'data-starting-style:-translate-x-full data-ending-style:-translate-x-full',
              widths[size],
            )}
          >
            <SheetHeader title={title} description={description} subheader={subheader} />
            <OfflineNote />
            <div ref={content} className="min-h-0 flex-1 overflow-y-auto overscroll-contain px-5 py-5">
              {children}
            </div>
            {footer && (
              <footer className="flex items-center justify-end gap-2 border-line border-t px-5 py-3.5">
                {footer}
              </footer>
            )}
          </Dialog.Popup>
        </Dialog.Viewport>
      </Dialog.Portal>
      {question}
    </Dialog.Root>
  );
}

function SheetHeader({ title, description, subheader }: Pick<Props, 'title' | 'description' | 'subheader'>) {
  return (
    <header className="border-line border-b px-5 py-4">
      <div className="flex items-start gap-4">
        <div className="min-w-0 flex-1">
          <Dialog.Title className="font-semibold text-base">{title}</Dialog.Title>
          {description && (
            <Dialog.Description className="mt-0.5 text-muted">{description}</Dialog.Description>
          )}
        </div>
        <Dialog.Close
          aria-label="Close"
          className={cx(buttonClass({ variant: 'ghost', size: 'icon-sm' }), '-mr-1.5')}
        >
          <X aria-hidden />
        </Dialog.Close>
      </div>
      {subheader && <div className="mt-4">{subheader}</div>}
    </header>
  );
}

function OfflineNote() {
  const online = useOnline();
  return (
    <div role="status">
      {!online && (
        <p className="bg-warn-soft px-5 py-2 text-compact text-warn">
          The server cannot be reached. What you enter stays here.
        </p>
      )}
    </div>
  );
}

/** Decides the focus on close: the trigger, or the page title if the page has changed. */
function useFinalFocus(open: boolean): () => boolean {
  // Components outside a router still render; they have no navigation to observe.
  const router = useRouter({ warn: false }) as ReturnType<typeof useRouter> | null;
  const openedAt = useRef<string>(undefined);
  useEffect(() => {
    if (open) openedAt.current = router?.state.resolvedLocation?.pathname;
  }, [open, router]);
  return () => {
    // Base UI also calls it while the sheet stays open.
    if (open) return true;
    const focused = document.activeElement;
    // Keep the focus if the user has moved it or opened something else.
    if (focused && focused !== document.body && !focused.closest('[data-closed]')) return false;
    const isSamePage = router?.state.resolvedLocation?.pathname === openedAt.current;
    // Focus can't move during the DOM update. The trigger may be gone, such as an item of the palette.
    queueMicrotask(() => {
      if (!isSamePage || document.activeElement === document.body) focusTitle();
    });
    return isSamePage;
  };
}
