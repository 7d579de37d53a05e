import { Field } from '@base-ui/react/field';
import type { ComponentProps } from 'react';
import { controlClass } from './control-class.ts';

/** A multi-line input that grows with its text, up to a third of the screen. */
export function Textarea({ className, rows = 3, ...rest }: ComponentProps<'textarea'>) {
  return (
    <Field.Control
      render={<textarea rows={rows} {...rest} />}
      className={controlClass('field-sizing-content max-h-[33dvh] min-h-20 resize-y px-3 py-2', className)}
    />
  );
}
