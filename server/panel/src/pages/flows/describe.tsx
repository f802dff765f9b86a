import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { api, got } from '../../api/client'
import { number, t } from '../../text'
import { useAct } from '../../ui/act'
import { Select, TextArea } from '../../ui/field'
import { Button } from '../../ui/parts'
import { Changes } from './changes'
import { difference } from './diff'
import type { Document } from './engine'
import { Problems } from './problems'

/** Describe has a model propose a draft after a description. Nothing changes until it is taken. */
export function Describe({ id, document, take }: { id: string; document: Document; take: (document: Document) => void }) {
  const [text, setText] = useState('')
  const [model, setModel] = useState('')
  const models = useQuery({ queryKey: ['models'], queryFn: () => got(api.GET('/aiflow/model')) })
  const act = useAct(() => got(api.POST('/aiflow/flow/{flowId}/draft-from-text', { params: { path: { flowId: id } }, body: { text, ...(model ? { model } : {}) } })))
  const proposal = act.data
  const differs = useMemo(() => proposal && difference(document, proposal.draft), [document, proposal])
  return (
    <div className="stack">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          act.mutate(undefined)
        }}
      >
        <TextArea label={t('edit.wish')} hint={t('edit.wishHint')} value={text} onChange={(event) => setText(event.target.value)} wrong={act.wrong('text')} rows={5} maxLength={20_000} required />
        <Select
          label={t('edit.model')}
          value={model}
          onChange={(event) => setModel(event.target.value)}
          wrong={act.wrong('model')}
          options={[{ value: '', label: t('edit.serversModel') }, ...(models.data?.items ?? []).map((one) => ({ value: one.id, label: one.title || one.id }))]}
        />
        <div className="row">
          <Button type="submit" tone="main" busy={act.isPending}>
            {t('edit.propose')}
          </Button>
        </div>
      </form>
      {proposal && differs && (
        <div className="stack">
          <h3>{t('edit.proposal')}</h3>
          <p className="small mute">{t('edit.proposalOf', { model: proposal.model, tokens: number(proposal.usage.inputTokens + proposal.usage.outputTokens) })}</p>
          {proposal.problems.length > 0 && <Problems problems={proposal.problems} />}
          <div className="changes-box" tabIndex={0} role="region" aria-label={t('edit.proposal')}>
            <Changes of={differs} names={proposal.draft} />
          </div>
          <div className="row">
            <Button
              tone="main"
              onClick={() => {
                take(proposal.draft)
                act.reset()
              }}
            >
              {t('edit.takeProposal')}
            </Button>
            <Button onClick={act.reset}>{t('edit.dropProposal')}</Button>
          </div>
        </div>
      )}
    </div>
  )
}
