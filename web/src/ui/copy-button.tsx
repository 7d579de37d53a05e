import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { copyText } from '../lib/device/copy-text.ts';
import { Button, type ButtonLook } from './button.tsx';
import { notify } from './notify.ts';
import { Tooltip } from './tooltip.tsx';

type Props = ButtonLook & {
  text: string;
  /** Button label, such as 'Copy the API key'. */
  label: string;
  /** Shows text next to the icon. */
  withText?: boolean;
};

export function CopyButton({
  text,
  label,
  withText = false,
  size = withText ? 'md' : 'icon-sm',
  variant = withText ? 'secondary' : 'ghost',
}: Props) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(timer);
  }, [copied]);

  async function copy() {
    try {
      await copyText(text);
      setCopied(true);
    } catch {
      notify.failure('This browser does not allow copying here. Select the text instead.');
    }
  }

  const button = (
    <Button
      variant={variant}
      size={size}
      aria-label={withText ? undefined : label}
      onClick={() => void copy()}
    >
      {copied ? <Check aria-hidden className="text-good" /> : <Copy aria-hidden />}
      {withText && (copied ? 'Copied' : label)}
      <span role="status" className="sr-only">
        {copied && !withText ? 'Copied' : ''}
      </span>
    </Button>
  );
  return withText ? button : <Tooltip content={label}>{button}</Tooltip>;
}
