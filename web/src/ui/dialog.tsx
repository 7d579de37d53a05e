import { Dialog as Base } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { type ReactNode, useRef } from 'react';
import { cx } from '../lib/cx.ts';
import { buttonClass } from './button.tsx';
import { backdropClass, viewportClass } from './dialog-class.ts';
import { firstField } from './first-field.ts';
import { oneTimeSecretQuestion, useClosingQuestion } from './use-closing-question.tsx';

type Props = {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  description?: ReactNode;
  /** Buttons, right-aligned at the bottom. */
  footer?: ReactNode;
  /** Maximum width; `fit` fits the content. */
  size?: 'sm' | 'md' | 'lg' | 'fit';
  /**
   * Shows or awaits a one-time secret: Escape and outside clicks don't close the dialog, only its buttons do.
   */
  keepOpen?: boolean;
  /** Has unsaved input: Escape and outside clicks ask whether to discard it. */
  dirty?: boolean;
  children?: ReactNode;
};

const widths = {
  sm: 'w-full max-w-md',
  md: 'w-full max-w-lg',
  lg: 'w-full max-w-3xl',
  fit: 'w-fit min-w-[min(100%,18rem)] max-w-full',
};

/**
 * A question or short form over the page. Escape and outside clicks close it; focus returns to the trigger.
 */
export function Dialog({
  open,
  onOpenChange,
  title,
  description,
  footer,
  size = 'md',
  keepOpen = false,
  dirty = false,
  children,
}: Props) {
  const close = () => onOpenChange(false);
  const content = useRef<HTMLDivElement>(null);
  const buttons = useRef<HTMLElement>(null);
  const { requestClose, question } = useClosingQuestion(
    open && (keepOpen ? oneTimeSecretQuestion : dirty),
    'page',
    close,
  );
  return (
    <Base.Root
      open={open}
      disablePointerDismissal={keepOpen}
      onOpenChange={(next, { reason }) => {
        if (next) onOpenChange(true);
        else if (!keepOpen) requestClose();
        else if (reason !== 'escape-key') close();
      }}
    >
      <Base.Portal>
        <Base.Backdrop className={backdropClass} />
        <Base.Viewport
          className={cx(
            viewportClass,
            // Never larger than the window: content scrolls inside and the buttons stay visible.
            'grid grid-cols-1 grid-rows-[minmax(0,1fr)] place-items-end overflow-y-auto p-3 sm:place-items-center sm:p-6',
          )}
        >
          <Base.Popup
            // Focus the buttons if there is no field. On touch, don't focus a field, because that opens the
            // on-screen keyboard.
            initialFocus={(type) =>
              type === 'touch' ? true : (firstField(content.current) ?? firstField(buttons.current) ?? true)
            }
            className={cx(
              'flex max-h-full flex-col rounded-2xl bg-surface shadow-pop outline-none transition-[opacity,scale,translate] duration-150',
              'data-starting-style:translate-y-2 data-starting-style:opacity-0 data-ending-style:translate-y-2 data-ending-style:opacity-0',
              widths[size],
            )}
          >
            <Header title={title} description={description} />
            <div ref={content} className="min-h-0 overflow-y-auto px-5 pt-4 pb-5 empty:hidden">
              {children}
            </div>
            {footer && (
              <footer
                ref={buttons}
                className="flex flex-wrap justify-end gap-2 border-line border-t px-5 py-3.5"
              >
                {footer}
              </footer>
            )}
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
      {question}
    </Base.Root>
  );
}

function Header({ title, description }: Pick<Props, 'title' | 'description'>) {
  return (
    <header className="flex items-start gap-4 px-5 pt-5">
      <div className="min-w-0 flex-1">
        <Base.Title className="font-semibold text-base">{title}</Base.Title>
        {description && <Base.Description className="mt-1 text-muted">{description}</Base.Description>}
      </div>
      <Base.Close
        aria-label="Close"
        className={cx(buttonClass({ variant: 'ghost', size: 'icon-sm' }), '-mt-1 -mr-1.5')}
      >
        <X aria-hidden />
      </Base.Close>
    </header>
  );
}
