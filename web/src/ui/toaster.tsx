import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react';
import { useEffect } from 'react';
import { createPortal } from 'react-dom';
import { Toaster as Sonner, toast } from 'sonner';
import { toasterIsThere } from './toaster-loader.ts';

/** Above the footer of an open sheet, so that no toast lies on its buttons; set in styles.css. */
const BOTTOM = 'var(--toast-bottom)';

/**
 * Where toasts appear; a live region. Says when it listens, because earlier toasts would be lost. It stands
 * in the body: the root is a layer of its own, under sheets and dialogs.
 */
export function Toaster() {
  useEffect(() => toasterIsThere(toast), []);
  return createPortal(
    <Sonner
      position="bottom-right"
      gap={10}
      offset={{ right: 20, bottom: BOTTOM }}
      mobileOffset={{ bottom: BOTTOM }}
      closeButton
      style={{ fontFamily: 'inherit' }}
      icons={{
        success: <CircleCheck aria-hidden className="size-4 text-good" />,
        info: <Info aria-hidden className="size-4 text-info" />,
        warning: <TriangleAlert aria-hidden className="size-4 text-warn" />,
        error: <CircleAlert aria-hidden className="size-4 text-bad" />,
      }}
      toastOptions={{
        unstyled: true,
        classNames: {
          toast:
            'flex w-[22.5rem] max-w-[calc(100vw-2rem)] flex-wrap items-start gap-x-3 gap-y-2.5 rounded-xl bg-surface px-4 py-3.5 pr-9 text-ink shadow-pop',
          icon: 'mt-[3px]',
          // Takes the whole line beside the icon: a button stands under the text, not in its place.
          content: 'min-w-0 basis-[calc(100%-1.75rem)] break-words',
          title: 'font-medium',
          description: 'mt-0.5 text-[0.8125rem] text-muted',
          actionButton:
            'ml-7 h-7 rounded-md bg-accent px-2.5 font-medium text-[0.8125rem] text-accent-ink hover:bg-accent-hover',
          closeButton:
            'absolute top-3 right-2.5 flex size-6 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink',
        },
      }}
    />,
    document.body,
  );
}
