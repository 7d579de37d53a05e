import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react';
import { useEffect } from 'react';
import { createPortal } from 'react-dom';
import { Toaster as Sonner, useSonner } from 'sonner';

/** Default position, set in styles.css. */
const BOTTOM = 'var(--toast-bottom)';
const RIGHT = 'var(--toast-right)';

/**
 * The toast region, which is live. Rendered into the body: the app root is its own stacking layer, under sheets
 * and dialogs.
 */
export function Toaster() {
  useToastRoom();
  return createPortal(
    <Sonner
      position="bottom-right"
      gap={10}
      offset={{ right: RIGHT, bottom: BOTTOM }}
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
            'flex w-90 max-w-[calc(100vw-2rem)] flex-wrap items-start gap-x-3 gap-y-2.5 rounded-xl bg-surface px-4 py-3.5 pr-9 text-ink shadow-pop',
          icon: 'mt-0.75',
          // Use the full line next to the icon, so that a button wraps below the text.
          content: 'min-w-0 basis-[calc(100%-1.75rem)] break-words',
          title: 'font-medium',
          description: 'mt-0.5 text-compact text-muted',
          actionButton:
            'ml-7 h-7 rounded-md bg-accent px-2.5 font-medium text-compact text-accent-ink hover:bg-accent-hover',
          closeButton:
            'absolute top-3 right-2.5 flex size-6 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink',
        },
      }}
    />,
    document.body,
  );
}

/**
 * Publishes the height of the toasts, so that open sheets and dialogs leave room for them (see styles.css).
 */
function useToastRoom(): void {
  const { toasts } = useSonner();
  const any = toasts.length > 0;
  useEffect(() => {
    const list = document.querySelector<HTMLElement>('[data-sonner-toaster]');
    if (!any || !list) return;
    const { style } = document.documentElement;
    const update = () =>
      style.setProperty('--toast-height', list.style.getPropertyValue('--front-toast-height'));
    update();
    const observer = new MutationObserver(update);
    observer.observe(list, { attributeFilter: ['style'] });
    return () => {
      observer.disconnect();
      style.removeProperty('--toast-height');
    };
  }, [any]);
}
