import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, got, type Schemas } from '../../api/client'
import { t } from '../../text'
import { Dialog } from '../../ui/dialog'
import { Input, Select } from '../../ui/field'
import type { Reference } from '../../ui/line-choice'
import { Button, Empty, Loading, Notice } from '../../ui/parts'
import type { Chat } from './chats'

type Content = Schemas['SendInputBody']['message']
type Template = Schemas['MessagingTemplate']

/** Templates sends an approved template: the way to write outside the answer window. */
export function Templates({ line, close, send, busy, wrong }: { line: Reference; chat: Chat; close: () => void; send: (message: Content) => void; busy: boolean; wrong: string | undefined }) {
  const list = useQuery({
    queryKey: ['templates', line.id, 'APPROVED'],
    queryFn: () => got(api.GET('/templates', { params: { query: { reference: line.id, status: 'APPROVED', limit: 200 } } })),
  })
  const [chosen, setChosen] = useState('')
  const [values, setValues] = useState<string[]>([])
  const template = list.data?.items.find((one) => one.id === chosen) ?? list.data?.items[0]
  const count = template ? parameters(template) : 0
  const content = (): Content => ({
    type: 'template',
    template: {
      name: template?.name ?? '',
      language: { code: template?.language ?? '' },
      components: count ? [{ type: 'body', parameters: Array.from({ length: count }, (_, at) => ({ type: 'text', text: values[at] ?? '' })) }] : [],
    },
  })
  return (
    <Dialog title={t('inbox.template')} close={close}>
      {list.isPending && <Loading />}
      {list.isSuccess && !template && <Empty title={t('inbox.noTemplates')} />}
      {template && (
        <div className="stack">
          {wrong && <Notice tone="bad">{wrong}</Notice>}
          <Select label={t('inbox.template')} value={template.id} onChange={(event) => setChosen(event.target.value)} options={list.data?.items.map((one) => ({ value: one.id, label: `${one.name} (${one.language})` })) ?? []} />
          <p className="bubble words" dir="auto">
            {body(template).replace(/\{\{(\d+)\}\}/g, (whole, n: string) => values[Number(n) - 1] || whole)}
          </p>
          {Array.from({ length: count }, (_, at) => (
            <Input key={at} label={t('inbox.parameter', { n: at + 1 })} value={values[at] ?? ''} onChange={(event) => setValues(Object.assign([...values], { [at]: event.target.value }))} required />
          ))}
          <div>
            <Button tone="main" busy={busy} onClick={() => send(content())}>
              {t('inbox.send')}
            </Button>
          </div>
        </div>
      )}
    </Dialog>
  )
}

/** body is the text of a template, with its places. */
function body(template: Template): string {
  const parts = template.components as { type?: string; text?: string }[]
  return parts.find((part) => part.type?.toUpperCase() === 'BODY')?.text ?? ''
}

function parameters(template: Template): number {
  return Math.max(0, ...[...body(template).matchAll(/\{\{(\d+)\}\}/g)].map((found) => Number(found[1])))
}
