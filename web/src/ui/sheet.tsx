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
  /** Under the title and always in sight: a stepper. */
  subheader?: ReactNode;
  /** Always in sight at the bottom: the buttons. */
  footer?: ReactNode;
  /** Something was typed: closing asks first, by default whether to discard it. */
  dirty?: boolean | ClosingQuestion;
  size?: 'sm' | 'md' | 'lg';
  side?: 'right' | 'left';
  children: ReactNode;
};

const widths = { sm: 'max-w-[19rem]', md: 'sm:max-w-md', lg: 'sm:max-w-2xl' };

/** A panel that slides in from the edge over the page. Escape closes it, or asks when `dirty`. */
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
  // One that is open from its very first rendering would stand there without having slid in.
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
            // A finger has no use for the keyboard that the first field would bring up.
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
        <p className="bg-warn-soft px-5 py-2 text-[0.8125rem] text-warn">
          The server cannot be reached. What you enter stays here.
        </p>
      )}
    </div>
  );
}

/** Says where the focus goes when it closes: back, or to the title of the page that was gone to meanwhile. */
function useFinalFocus(open: boolean): () => boolean {
  // Without a router, nothing navigates.
  const router = useRouter({ warn: false }) as ReturnType<typeof useRouter> | null;
  const openedAt = useRef<string>(undefined);
  useEffect(() => {
    if (open) openedAt.current = router?.state.resolvedLocation?.pathname;
  }, [open, router]);
  return () => {
    // It is asked for also where the sheet does not close.
    if (open) return true;
    const focused = document.activeElement;
    // Who has taken it elsewhere, or opened something else in its place, keeps it there.
    if (focused && focused !== document.body && !focused.closest('[data-closed]')) return false;
    if (router?.state.resolvedLocation?.pathname === openedAt.current) return true;
    // It cannot be moved while the document changes.
    queueMicrotask(focusTitle);
    return false;
  };
}
