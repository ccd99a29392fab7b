#pragma once

std::size_t twice_the_answer();
