package model

// The calls that wait at a server form a list in the order of their arrival.

func (sv *server) push(j *job) {
	j.prev, j.next = sv.tail, nil
	if sv.tail != nil {
		sv.tail.next = j
	} else {
		sv.head = j
	}
	sv.tail = j
	sv.queued++
}

func (sv *server) remove(j *job) {
	if j.prev != nil {
		j.prev.next = j.next
	} else {
		sv.head = j.next
	}
	if j.next != nil {
		j.next.prev = j.prev
	} else {
		sv.tail = j.prev
	}
	j.prev, j.next = nil, nil
	sv.queued--
}
