import type { ComponentType } from 'react'
import { t } from '../../text'
import { Button } from '../parts'
import { type FieldProps, Group } from './field'
import { blank, moved, shapeOf } from './schema'

/** List is a list whose items can be added, moved and taken away. */
export function List({ schema, label, path, value, change, required, wrong, special, item: Item }: FieldProps & { item: ComponentType<FieldProps> }) {
  const items: unknown[] = Array.isArray(value) ? value : []
  const one = schema.items ?? {}
  const flat = !['object', 'map', 'list'].includes(shapeOf(one))
  const set = (next: unknown[]) => change(next.length === 0 && !required ? undefined : next)
  return (
    <Group label={label} hint={schema.description} wrong={wrong(path)}>
      {items.length > 0 && (
        <ol className="items">
          {items.map((value, at) => {
            const name = `${label} ${at + 1}`
            return (
              <li key={at} className={flat ? 'flat' : undefined}>
                <div className="grow">
                  <Item
                    schema={one}
                    label={name}
                    path={[...path, at]}
                    value={value}
                    change={(next) => set(items.map((before, i) => (i === at ? (next === undefined ? null : next) : before)))}
                    required
                    wrong={wrong}
                    special={special}
                  />
                </div>
                <div className="moves">
                  <Button tone="quiet" icon="up" label={t('form.up', { name })} disabled={at === 0} onClick={() => set(moved(items, at, at - 1))} />
                  <Button tone="quiet" icon="down" label={t('form.down', { name })} disabled={at === items.length - 1} onClick={() => set(moved(items, at, at + 1))} />
                  <Button tone="quiet" icon="trash" label={t('form.remove', { name })} onClick={() => set(items.filter((_, i) => i !== at))} />
                </div>
              </li>
            )
          })}
        </ol>
      )}
      {items.length < (schema.maxItems ?? Infinity) && (
        <div>
          <Button icon="plus" onClick={() => set([...items, blank(one) ?? null])}>
            {t('form.add')}
            <span className="hidden">{label}</span>
          </Button>
        </div>
      )}
    </Group>
  )
}
