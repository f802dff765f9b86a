import type { Key } from '../../text'
import { blank, type Draft } from './draft'

/** starters are templates to begin with. Their words go to contacts, so they are in English whatever the panel speaks. */
export const starters: { text: Key; draft: Draft }[] = [
  {
    text: 'templates.starter.order',
    draft: {
      ...blank,
      name: 'order_shipped',
      header: 'TEXT',
      headerText: 'Order {{1}}',
      body: 'Hello {{1}}, your order is on its way. It should arrive on *{{2}}*.',
      footer: 'Thank you for shopping with us',
      examples: { 'header.1': '1042', 'body.1': 'Ana', 'body.2': 'Monday, 3 March' },
      buttons: [{ type: 'URL', text: 'Track it', value: 'https://example.com/track/{{1}}', example: '1042' }],
    },
  },
  {
    text: 'templates.starter.appointment',
    draft: {
      ...blank,
      name: 'appointment_reminder',
      body: 'Hello {{1}}, we look forward to seeing you on *{{2}}* at {{3}}. Can you come?',
      examples: { 'body.1': 'Ana', 'body.2': 'Monday, 3 March', 'body.3': '10:30' },
      buttons: [
        { type: 'QUICK_REPLY', text: 'I will be there', value: '', example: '' },
        { type: 'QUICK_REPLY', text: 'Another day, please', value: '', example: '' },
      ],
    },
  },
  {
    text: 'templates.starter.offer',
    draft: {
      ...blank,
      name: 'spring_offer',
      category: 'MARKETING',
      body: 'Hello {{1}}, until {{2}} everything is *20% off*. Show this code at the till, or use it on our site.',
      footer: 'Reply STOP to get no more offers',
      examples: { 'body.1': 'Ana', 'body.2': 'Sunday' },
      buttons: [
        { type: 'COPY_CODE', text: '', value: 'SPRING20', example: '' },
        { type: 'URL', text: 'See the offers', value: 'https://example.com/offers', example: '' },
      ],
    },
  },
  { text: 'templates.starter.code', draft: { ...blank, name: 'login_code', category: 'AUTHENTICATION' } },
]
